import 'uplot/dist/uPlot.min.css';
import '../style/inter.css';
import '../style/colours.css';
import '../style/chart.css';
import '../style/tables.css';
import './style/layout.css';
import './style/controls.css';
import './style/parts.css';
import './style/knobs.css';
import { h } from '../dom.ts';
import { charts } from './charts.ts';
import { Client } from './client.ts';
import { Dialogs } from './dialog.ts';
import { Gate } from './gate.ts';
import { header, keepTitle } from './header.ts';
import { Mover } from './knobs/mover.ts';
import { KnobsPanel } from './knobs/panel.ts';
import { Link } from './link.ts';
import { Log } from './log.ts';
import { meters } from './meters.ts';
import { Operations } from './operations.ts';
import type { Desk, Part } from './part.ts';
import { Presence } from './presence.ts';
import { QueuePart } from './queue.ts';
import { keepShown } from './render.ts';
import { rooms } from './rooms.ts';
import { servers } from './servers.ts';
import { SessionsPart } from './sessions.ts';
import { Store } from './store.ts';
import { TokenForm } from './token.ts';

function start(page: HTMLElement): void {
  const store = new Store();
  const token = new TokenForm();
  const gate = new Gate(new Client(token), () => {
    link.overtake();
  });
  const link = new Link(gate, store, new Presence());
  const dialogs = new Dialogs();
  const refresh = (): Promise<void> => link.refresh();
  const desk: Desk = {
    gate,
    store,
    dialogs,
    mover: new Mover(gate, store, dialogs, refresh),
    refresh,
    tryNow: () => {
      token.askAgain();
      link.tryNow();
    },
    token,
  };
  const [top, knobs] = [header(desk), new KnobsPanel(desk)];
  const main = h('main', { id: 'main', tabindex: '-1' }, token.root, knobs.root);
  const skip = h('a', { class: 'skip', href: '#main' }, 'Skip to the knobs');
  page.append(skip, top.root, main, dialogs.root);
  keepTitle(store);
  const show = keepShown(store, [top, knobs]);
  afterPaint(() => {
    const parts = below(desk);
    main.append(...parts.map((part) => part.root));
    show(parts);
  });
  void link.run();
}

/** What is below the first look. */
function below(desk: Desk): Part[] {
  return [
    meters(desk),
    charts(desk),
    new QueuePart(desk),
    new SessionsPart(desk),
    servers(desk),
    rooms(desk),
    new Operations(desk),
    new Log(desk),
  ];
}

/** Once a frame has been painted, so that what is there by then is seen first. */
function afterPaint(then: () => void): void {
  requestAnimationFrame(() => setTimeout(then));
}

const page = document.getElementById('page');
if (page) start(page);
