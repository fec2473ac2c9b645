/** A report as the page shows it. */
export interface View {
  title: string;
  version: string;
  opening: HTMLElement;
  /** Where the reader may jump to: id and name. */
  contents: [string, string][];
  sections: HTMLElement[];
}
