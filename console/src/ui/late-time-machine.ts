// Late time machine: its bar, which a page loads once it shows an earlier moment.
import { late } from './late.tsx';

export const TimeMachine = late(
  'TimeMachine',
  async () => (await import('./time-machine.tsx')).TimeMachine,
);
