// Telemetry of tests: what a test watches; anything else that is called fails the test.
import type { Telemetry } from './events.ts';

export function telemetryOf(watched: Partial<Telemetry>): Telemetry {
  return new Proxy(watched, {
    get(target, name) {
      if (!(name in target)) throw new Error(`telemetry.${String(name)} was not expected`);
      return Reflect.get(target, name) as unknown;
    },
  }) as Telemetry;
}
