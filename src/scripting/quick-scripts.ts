// Quick scripts: which scripts may run in the thread that received their event, judged by their runs so far.
import type { UplinkScript } from '../model/uplink.ts';
import { localScriptLimits } from './local-scripts.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';

/** Runs that are looked at, and how many of them may be slow: compiling its code and collecting garbage make some so. */
const runsSeen = 64;
const slowMax = 4;
const refusedMs = 3_600_000;
const tenantsMax = 5_000;
const scriptsPerTenant = 100;

interface Runs {
  seen: number;
  slow: number;
  refusedUntil: number;
  refusals: number;
}

export class QuickScripts {
  readonly #runs = createBoundedMap<string, Map<string, Runs>>(tenantsMax);
  readonly #now: () => number;

  /** The clock is monotonic, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a run by its processor time, which a busy machine does not lengthen. One that leaves a state, or gets one, needs the order of its device. */
  note({ tenant, code }: UplinkScript, processorMs: number, hasState: boolean): void {
    const runs = this.#of(tenant, code);
    if (hasState) {
      this.#refuse(runs);
      return;
    }
    if (runs.seen === runsSeen) {
      runs.seen /= 2;
      runs.slow /= 2;
    }
    runs.seen++;
    if (processorMs > localScriptLimits.quickMs) runs.slow++;
  }

  isQuick({ tenant, code }: UplinkScript): boolean {
    if (code.length > localScriptLimits.sourceCharsMax) return false;
    const runs = this.#runs.get(tenant)?.get(code);
    if (runs === undefined || runs.seen < runsSeen / 2 || runs.slow > slowMax) return false;
    return this.#now() >= runs.refusedUntil;
  }

  /** The script took too long, or used a state: for an hour, and twice as long each time. */
  refuse({ tenant, code }: UplinkScript): void {
    this.#refuse(this.#of(tenant, code));
  }

  #refuse(runs: Runs): void {
    runs.refusedUntil = this.#now() + refusedMs * 2 ** Math.min(runs.refusals++, 10);
    runs.seen = 0;
    runs.slow = 0;
  }

  #of(tenant: string, code: string): Runs {
    const ofTenant = this.#runs.get(tenant) ?? new Map<string, Runs>();
    this.#runs.set(tenant, ofTenant);
    const known = ofTenant.get(code);
    if (known !== undefined) return known;
    // Of a tenant that tries many, only the newest count.
    if (ofTenant.size >= scriptsPerTenant) ofTenant.delete(ofTenant.keys().next().value ?? '');
    const runs = { seen: 0, slow: 0, refusedUntil: Number.NEGATIVE_INFINITY, refusals: 0 };
    ofTenant.set(code, runs);
    return runs;
  }
}
