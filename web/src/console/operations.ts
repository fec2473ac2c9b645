import { h } from '../dom.ts';
import { why } from './client.ts';
import { allow, button, Notice, section, setAttribute, setText, table } from './elements.ts';
import type { Desk, Part } from './part.ts';
import { lately } from './samples.ts';
import type { Mode, Preview } from './schemas.ts';
import type { Store } from './store.ts';
import { rate } from './words.ts';

/** Shadow mode, drain and reload; each says what it means before it is done. */
export class Operations implements Part {
  readonly root: HTMLElement;
  private readonly notice = new Notice();
  private readonly shadow = button('', () => void this.switchMode(), {
    role: 'switch',
    class: 'switch',
    'aria-labelledby': 'shadow-label',
    'aria-describedby': 'shadow-words',
  });
  private readonly shadowWords = h('p', { class: 'hint', id: 'shadow-words' });
  private readonly drain = button('Drain', () => void this.switchDrain());
  private readonly drainWords = h('p', { class: 'hint' });
  private readonly look = button('Show what would change', () => void this.preview());
  private readonly reload = button('Read it again', () => void this.doReload(), { class: 'button primary' });
  private readonly difference = h('div');
  private shown: Preview | null = null;

  constructor(private readonly desk: Desk) {
    this.root = section(
      'operations',
      'Operations',
      this.notice.root,
      h('h3', { id: 'shadow-label' }, 'Shadow mode'),
      h('div', { class: 'operation' }, this.shadow, this.shadowWords),
      h('h3', {}, 'Clients'),
      h('div', { class: 'operation' }, this.drain, this.drainWords),
      h('h3', {}, 'Configuration'),
      h(
        'p',
        { class: 'hint' },
        'Reading it again takes over what has been changed in the file since, without a restart.',
      ),
      h('div', { class: 'operation' }, this.look, this.reload),
      this.difference,
    );
  }

  render(): void {
    const { store } = this.desk;
    const { isShadow } = store;
    const draining = store.state?.draining ?? false;
    setAttribute(this.shadow, 'aria-checked', String(isShadow));
    setText(this.shadow, isShadow ? 'On' : 'Off');
    setText(this.shadowWords, shadowWords(store));
    setText(this.drain, draining ? 'Take clients again' : 'Drain');
    setText(
      this.drainWords,
      draining
        ? 'Draining: each response is the last on its connection, and the gate says that it is not ready.'
        : 'Clients are taken.',
    );
    for (const one of [this.shadow, this.drain]) allow(one, store);
    allow(this.reload, store, this.shown !== null && this.shown.refused == null);
  }

  private async do(what: () => Promise<unknown>, good: string, bad: string): Promise<void> {
    try {
      await what();
      this.notice.good(good);
    } catch (error) {
      this.notice.bad(`${bad}: ${why(error)}.`);
    }
    await this.desk.refresh().catch(() => undefined);
  }

  private async switchMode(): Promise<void> {
    const { gate, store, dialogs } = this.desk;
    const mode: Mode = store.isShadow ? 'enforce' : 'shadow';
    const text =
      mode === 'shadow'
        ? 'From now on no client is refused and nothing is held back: all requests go to the server at once, as many as come. What would have been refused is only counted.'
        : `From now on requests wait and are refused as the policy decides. ${shadowWords(store)}`;
    const yes = await dialogs.confirm({
      title: `Switch shadow mode of ${store.host} ${mode === 'shadow' ? 'on' : 'off'}?`,
      body: [h('p', {}, text)],
      action: mode === 'shadow' ? 'Let everything through' : 'Enforce',
      dangerous: true,
    });
    if (!yes) return;
    const good = mode === 'shadow' ? 'Shadow mode is on.' : 'Shadow mode is off: the policy is enforced.';
    await this.do(() => gate.setMode(mode), good, 'The mode is as it was');
  }

  private async switchDrain(): Promise<void> {
    const { gate, store, dialogs } = this.desk;
    const draining = !(store.state?.draining ?? false);
    if (draining) {
      const yes = await dialogs.confirm({
        title: `Drain ${store.host}?`,
        body: [
          h(
            'p',
            {},
            'Balancers are told that it is not ready, and each response is the last on its connection. With nothing else to go to, clients come back here.',
          ),
        ],
        action: 'Drain',
        dangerous: true,
      });
      if (!yes) return;
    }
    const good = draining ? 'Draining.' : 'Clients are taken again.';
    await this.do(() => gate.setDraining(draining), good, 'Nothing has changed');
  }

  private async preview(): Promise<void> {
    try {
      this.show(await this.desk.gate.previewReload());
      this.notice.clear();
    } catch (error) {
      this.show(null);
      this.notice.bad(`Not known: ${why(error)}.`);
    }
    this.desk.store.changed();
  }

  private show(preview: Preview | null): void {
    this.shown = preview;
    if (!preview) this.difference.replaceChildren();
    else if (preview.refused != null) {
      this.difference.replaceChildren(
        h('p', { class: 'notice bad' }, `It would be refused: ${preview.refused}`),
      );
    } else if (preview.changes.length === 0) {
      this.difference.replaceChildren(h('p', { class: 'hint' }, 'Nothing would change.'));
    } else {
      const rows = preview.changes.map((change) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, change.setting),
          h('td', { class: 'words' }, change.old),
          h('td', { class: 'words' }, change.new),
        ),
      );
      this.difference.replaceChildren(
        table('What would change', ['Setting', 'Old', 'New'], h('tbody', {}, ...rows)),
      );
    }
  }

  private async doReload(): Promise<void> {
    // The file, or the knobs, may have been changed since the difference was shown.
    await this.preview();
    const { shown } = this;
    if (shown?.refused !== null && shown?.refused !== undefined) {
      this.notice.bad(`Not read: ${shown.refused}`);
      return;
    }
    if (!shown) return;
    const names = shown.changes.map((change) => change.setting);
    const what =
      names.length > 0 ? `These change: ${names.join(', ')}.` : 'Nothing changes, as far as is known.';
    const yes = await this.desk.dialogs.confirm({
      title: `Read the configuration of ${this.desk.store.host} again?`,
      body: [
        h(
          'p',
          {},
          `${what} No connection and no waiting request is lost. Knobs that were moved by hand are again where the file has them.`,
        ),
      ],
      action: 'Read it again',
    });
    if (!yes) return;
    try {
      const { changed } = await this.desk.gate.reload();
      this.notice.good(`Read again; changed: ${changed.length > 0 ? changed.join(', ') : 'nothing'}.`);
      this.show(null);
    } catch (error) {
      this.notice.bad(`Not read: ${why(error)}.`);
    }
    await this.desk.refresh().catch(() => undefined);
  }
}

/** What the policy would do, or does. */
function shadowWords({ isShadow, samples }: Store): string {
  if (!isShadow) return 'Off: the policy is enforced.';
  const recent = samples.recent(10);
  const each = samples.classes.map((name, i) => `${name} ${rate(lately(recent, name, i).refused)}`);
  return `On: nobody is refused. Would be refused: ${each.join(', ')}.`;
}
