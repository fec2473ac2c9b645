import { h, type Child } from '../dom.ts';
import { button } from './elements.ts';

export interface Question {
  title: string;
  /** What it means. */
  body: Child[];
  /** What the button says that does it. */
  action: string;
  dangerous?: boolean;
}

/** Questions before what cannot be taken back unseen. The browser keeps the focus inside and gives it back. */
export class Dialogs {
  readonly root = h('div');
  private number = 0;

  confirm(question: Question): Promise<boolean> {
    this.number += 1;
    const id = `dialog-${this.number}`;
    const dialog = h('dialog', { 'aria-labelledby': `${id}-title`, 'aria-describedby': `${id}-body` });
    const cancel = button('Cancel', () => {
      dialog.close('');
    });
    const act = button(
      question.action,
      () => {
        dialog.close('yes');
      },
      { class: question.dangerous ? 'button danger' : 'button primary' },
    );
    dialog.append(
      h('h2', { id: `${id}-title` }, question.title),
      h('div', { id: `${id}-body` }, ...question.body),
      h('div', { class: 'actions' }, cancel, act),
    );
    const opener = document.activeElement;
    this.root.append(dialog);
    dialog.showModal();
    cancel.focus();
    return new Promise((resolve) => {
      dialog.addEventListener('close', () => {
        dialog.remove();
        if (opener instanceof HTMLElement) opener.focus();
        resolve(dialog.returnValue === 'yes');
      });
    });
  }
}
