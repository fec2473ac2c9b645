import type { paths } from './api.ts';

/** What `GET` of a path answers. */
type Answer<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer T } } } };
}
  ? T
  : never;

export type State = Answer<'/api/v1/state'>;
export type Knobs = Answer<'/api/v1/knobs'>;
export type Queue = Answer<'/api/v1/queue'>;
export type Sessions = Answer<'/api/v1/sessions'>;
export type History = Answer<'/api/v1/history'>;
export type Changes = Answer<'/api/v1/changes'>;
export type Preview = Answer<'/api/v1/reload'>;
export type Outcome = Answer<'/api/v1/outcome'>;
export type Foresight = paths['/api/v1/foresight']['post']['responses'][200]['content']['application/json'];

export type Sample = History['samples'][number];
export type ClassSample = Sample['classes'][number];
export type Waits = NonNullable<ClassSample['waits']>;
export type Change = Changes['changes'][number];
export type ClassState = State['classes'][number];
export type QueuedRequest = Queue['requests'][number];
export type Point = Foresight['points'][number];
export type Predicted = Point['classes'][number];
export type Outcomes = Outcome['classes'][number];
/** A mean with its 95 % confidence interval. */
export type Estimate = Predicted['completed'];

export type Mode = State['mode'];
export type Verdict = State['verdict'];
export type Severity = Verdict['severity'];
