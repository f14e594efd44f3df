// Live page of a device: the whole list of samples as they arrive.
import { LiveTail } from './live-tail.tsx';

export function Live() {
  return <LiveTail isTall />;
}
