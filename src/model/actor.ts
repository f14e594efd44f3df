// Actor: the author of a change and the request that contains it, for the audit log (contract 26).
import type { Principal } from './principal.ts';

/** Who made a change, as records keep it. */
export type Author = {
  readonly type: Principal['kind'];
  readonly id: string;
  readonly name: string;
};

export interface Actor extends Author {
  readonly requestId: string;
  /** The address the request came from. */
  readonly ip: string;
}
