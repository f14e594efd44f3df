// Late time machine: its bar, which a page loads once it shows an earlier moment, and its button for the first page.
import { late } from './late.tsx';

export const TimeMachine = late(
  'TimeMachine',
  async () => (await import('./time-machine.tsx')).TimeMachine,
);

export const LateTimeMachineButton = late(
  'TimeMachineButton',
  async () => (await import('./time-machine-button.tsx')).TimeMachineButton,
);

/** The address at another moment, or without one for now. */
export function withMoment<T extends object>(
  search: T & { readonly at?: string },
  at: string | undefined,
) {
  const { at: _, ...now } = search;
  return at === undefined ? now : { ...now, at };
}
