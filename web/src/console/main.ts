import 'uplot/dist/uPlot.min.css';
import '../style/inter.css';
import '../style/colours.css';
import '../style/chart.css';
import '../style/tables.css';
import './style/layout.css';
import './style/controls.css';
import './style/parts.css';
import { h } from '../dom.ts';
import { charts } from './charts.ts';
import { Client } from './client.ts';
import { Dialogs } from './dialog.ts';
import { Gate } from './gate.ts';
import { header } from './header.ts';
import { KnobsPanel } from './knobs/panel.ts';
import { Link } from './link.ts';
import { Log } from './log.ts';
import { meters } from './meters.ts';
import { Operations } from './operations.ts';
import type { Desk, Part } from './part.ts';
import { QueuePart } from './queue.ts';
import { rooms } from './rooms.ts';
import { servers } from './servers.ts';
import { SessionsPart } from './sessions.ts';
import { Store } from './store.ts';
import { TokenForm } from './token.ts';

/** Clocks and ages go on without news. */
const TICK = 1000;

/** Shows all parts when something has changed, at most once a frame, and nothing while nobody looks. */
function renderer(store: Store, parts: Part[]): void {
  let due = false;
  const render = (): void => {
    due = false;
    if (document.hidden) return;
    for (const part of parts) part.render();
  };
  const soon = (): void => {
    if (due || document.hidden) return;
    due = true;
    requestAnimationFrame(render);
  };
  store.listen(soon);
  setInterval(soon, TICK);
  document.addEventListener('visibilitychange', () => {
    due = false;
    soon();
  });
  render();
}

function start(page: HTMLElement): void {
  const store = new Store();
  const token = new TokenForm();
  const gate = new Gate(new Client(token));
  const link = new Link(gate, store);
  const dialogs = new Dialogs();
  const desk: Desk = {
    gate,
    store,
    dialogs,
    refresh: () => link.refresh(),
    tryNow: () => {
      link.tryNow();
    },
  };
  const top = header(desk);
  const parts: Part[] = [
    new KnobsPanel(desk),
    meters(desk),
    charts(desk),
    new QueuePart(desk),
    new SessionsPart(desk),
    servers(desk),
    rooms(desk),
    new Operations(desk),
    new Log(desk),
  ];
  page.append(
    h('a', { class: 'skip', href: '#main' }, 'Skip to the knobs'),
    top.root,
    h('main', { id: 'main', tabindex: '-1' }, token.root, ...parts.map((part) => part.root)),
    dialogs.root,
  );
  renderer(store, [top, ...parts]);
  void link.run();
}

const page = document.getElementById('page');
if (page) start(page);
