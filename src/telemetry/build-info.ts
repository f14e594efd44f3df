// Build information: the version of the program as the label of a gauge.
import { readFileSync } from 'node:fs';
import type { Telemetry } from './events.ts';

export function addBuildInfo(telemetry: Telemetry): void {
  const version = programVersion();
  telemetry.labeledGauge('build_info', 'Build information; always 1.', 'version', () => [
    [version, 1],
  ]);
}

/** From the package, such as `1.4.0`. */
export function programVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
