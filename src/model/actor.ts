// Who makes a change, and within which request: what the audit log names (contract 26).
import type { Principal } from './principal.ts';

export interface Actor {
  readonly type: Principal['kind'];
  readonly id: string;
  readonly name: string;
  readonly requestId: string;
  /** The address the request came from. */
  readonly ip: string;
}
