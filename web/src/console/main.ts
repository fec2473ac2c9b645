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
  keepTitle(store);
  keepShown(store, [top, ...parts]);
  void link.run();
}

const page = document.getElementById('page');
if (page) start(page);
