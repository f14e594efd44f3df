// Session memory: what sessions keep for readers and senders that are slow, in one pool with a share for each organization.
import { SharedPool } from '../../structures/shared-pool.ts';
import { liveLimits } from './live-limits.ts';

/** Of all sessions of a process. Beyond the limit, sessions of the organization that holds most are cut off. */
export class LiveMemory {
  readonly #pool: SharedPool<SessionMemory>;

  constructor(bytesMax: number = liveLimits.sessionBytesMax) {
    this.#pool = new SharedPool({ max: bytesMax, giveWay: (session) => session.giveWay() });
  }

  /** In blocks, so that sessions that keep little cost nothing. */
  get bytes(): number {
    return this.#pool.used;
  }

  /** `cut` ends the session because its memory must give way. It may be called by any change of another one. */
  open(organizationId: string, cut: () => void): SessionMemory {
    return new SessionMemory(this.#pool, organizationId, cut);
  }
}

/**
 * The bytes of one session. Frames that sessions share count for each, because none knows when the
 * last of the others has sent them.
 */
export class SessionMemory {
  readonly #pool: SharedPool<SessionMemory>;
  readonly #organizationId: string;
  readonly #cut: () => void;
  #bytes = 0;
  #blocks = 0;
  #isClosed = false;

  constructor(pool: SharedPool<SessionMemory>, organizationId: string, cut: () => void) {
    this.#pool = pool;
    this.#organizationId = organizationId;
    this.#cut = cut;
  }

  /** Whether the organization may keep more of what can also be read from the store later. */
  get hasRoom(): boolean {
    const organizationId = this.#organizationId;
    return this.#pool.hasRoomFor(organizationId) || this.#pool.hasShareLeft(organizationId);
  }

  /** The session keeps so many bytes more, or fewer. Cuts it off when it must give way itself. */
  change(by: number): void {
    if (this.#isClosed) return;
    this.#bytes += by;
    const blocks = Math.floor(this.#bytes / liveLimits.sessionBlockBytes);
    if (blocks === this.#blocks) return;
    this.#blocks = blocks;
    if (blocks === 0) this.#pool.release(this);
    else if (!this.#pool.hold(this.#organizationId, this, blocks * liveLimits.sessionBlockBytes))
      this.giveWay();
  }

  giveWay(): void {
    this.close();
    this.#cut();
  }

  close(): void {
    this.#isClosed = true;
    this.#pool.release(this);
  }
}
