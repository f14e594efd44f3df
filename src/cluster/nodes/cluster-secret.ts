// Cluster secret: signs what a node sends to another one, and tells what nobody else could have sent (contract 42).
import {
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

const charactersMin = 32;
const distinctMin = 10;

export const signatureLimits = {
  /** How far the clocks of two nodes may differ. */
  clockMsMax: 300_000,
  /** Requests of one run that may overtake each other. */
  windowMax: 65_536,
  /** Runs of nodes that are remembered; each takes 8 kB. */
  runsMax: 1_000,
} as const;

/** Why the secret must not be used; undefined for a good one. */
export function clusterSecretWeakness(secret: string): string | undefined {
  if (secret.length < charactersMin)
    return `it has ${secret.length} characters: use a random string of at least ${charactersMin}`;
  if (new Set(secret).size < distinctMin)
    return 'it is not random enough; use the output of "openssl rand -hex 32"';
  return undefined;
}

/** What is signed besides time and number. */
interface Signed {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Ids of the node that sends, and of the only one that may accept it. */
  readonly from: string;
  readonly to: string;
  /** The call id, or lease and client address of a forwarded request. */
  readonly about: string;
  /** SHA-256 of the body, or `bodyFollows`. */
  readonly digest: string;
}

/** In place of the digest of a body that is sent while it is read: its seal is behind it. */
export const bodyFollows = 'follows';
export const emptyDigest = digestOf('');
export const sealBytes = 32;

export function digestOf(body: string | Uint8Array): string {
  return hash('sha256', body, 'base64url');
}

function keyOf(secret: string): KeyObject {
  return createSecretKey(createHmac('sha256', secret).update('heliograph node').digest());
}

function codeOf(key: KeyObject, { method, path, from, to, about }: Signed, head: string): Buffer {
  const text = `${method}\n${path}\n${from}\n${to}\n${about}\n${head}`;
  return createHmac('sha256', key).update(text).digest();
}

/** The seal of a body by its SHA-256. `signature` makes it that of one request. */
function sealOf(key: KeyObject, signature: string, digest: Buffer): Buffer {
  return createHmac('sha256', key).update(`${signature}\n`).update(digest).digest();
}

/**
 * Signs the requests of one run of a node, each with a number of its own, for one run of the
 * receiver. What an earlier run of that one accepted is of no use at the next.
 */
export class NodeSigner {
  readonly #key: KeyObject;
  /** The present runs of receivers, by the id of the node. */
  readonly #receivers = new Map<string, string>();
  readonly #run = randomBytes(12).toString('base64url');
  readonly #now: () => number;
  #sent = 0;

  constructor(secret: string, now: () => number) {
    this.#key = keyOf(secret);
    this.#now = now;
  }

  sign(request: Signed): string {
    const receiver = this.#receivers.get(request.to) ?? '';
    const head = `${this.#now()}.${this.#run}.${++this.#sent}.${receiver}.${request.digest}`;
    return `${head}.${codeOf(this.#key, request, head).toString('base64url')}`;
  }

  /** Keeps the run that the node told when it refused a request for another one. */
  meet(id: string, run: string): void {
    this.#receivers.set(id, run);
  }

  /** What follows a body without a digest. */
  seal(signature: string, digest: Buffer): Buffer {
    return sealOf(this.#key, signature, digest);
  }
}

/** Why a request is refused. */
type Refusal =
  | 'wrong signature'
  | 'another run'
  | 'clocks differ'
  | 'received before'
  | 'too many nodes';

interface Run {
  /** The highest number so far. */
  top: number;
  /** A bit for each of the last `windowMax` numbers. */
  readonly seen: Uint8Array;
  lastAt: number;
}

/** Checks signatures. Each request is accepted once, by one run of one node. */
export class SignatureCheck {
  /** Of this node; senders sign for it. */
  readonly run = randomBytes(12).toString('base64url');
  readonly #key: KeyObject;
  readonly #now: () => number;
  readonly #runs = new Map<string, Run>();

  constructor(secret: string, now: () => number) {
    this.#key = keyOf(secret);
    this.#now = now;
  }

  /** The digest of the body that was signed, or why the request is refused. */
  accept(
    signature: unknown,
    request: Omit<Signed, 'digest'>,
  ): { readonly digest: string } | { readonly refused: Refusal } {
    const parts = typeof signature === 'string' ? signature.split('.') : [];
    const [time = '', run = '', number = '', receiver = '', digest = '', code = ''] = parts;
    const head = `${time}.${run}.${number}.${receiver}.${digest}`;
    const expected = codeOf(this.#key, { ...request, digest }, head);
    const given = Buffer.from(code, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return { refused: 'wrong signature' };
    if (receiver !== this.run) return { refused: 'another run' };
    const refused = this.#refusalOf(Number(time), run, Number(number));
    return refused === undefined ? { digest } : { refused };
  }

  /** Whether the seal belongs to the request with this signature and to the SHA-256 of its body. */
  isSealed(signature: string, digest: Buffer, seal: Buffer): boolean {
    return seal.length === sealBytes && timingSafeEqual(sealOf(this.#key, signature, digest), seal);
  }

  #refusalOf(time: number, id: string, number: number): Refusal | undefined {
    const now = this.#now();
    if (Math.abs(now - time) > signatureLimits.clockMsMax) return 'clocks differ';
    const run = this.#runs.get(id) ?? this.#newRun(id, now);
    if (run === undefined) return 'too many nodes';
    run.lastAt = now;
    const { windowMax } = signatureLimits;
    if (number > run.top) {
      if (number - run.top >= windowMax) run.seen.fill(0);
      else for (let next = run.top + 1; next < number; next++) setBit(run.seen, next, false);
      run.top = number;
    } else if (number <= run.top - windowMax || hasBit(run.seen, number)) return 'received before';
    setBit(run.seen, number, true);
    return undefined;
  }

  #newRun(id: string, now: number): Run | undefined {
    const { runsMax, clockMsMax, windowMax } = signatureLimits;
    // What a run sent so long ago is too old by its time.
    if (this.#runs.size >= runsMax)
      for (const [known, { lastAt }] of this.#runs)
        if (now - lastAt > 2 * clockMsMax) this.#runs.delete(known);
    if (this.#runs.size >= runsMax) return undefined;
    const run: Run = { top: 0, seen: new Uint8Array(windowMax / 8), lastAt: now };
    this.#runs.set(id, run);
    return run;
  }
}

function hasBit(bits: Uint8Array, number: number): boolean {
  const at = number % signatureLimits.windowMax;
  return ((bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
}

function setBit(bits: Uint8Array, number: number, value: boolean): void {
  const at = number % signatureLimits.windowMax;
  const byte = bits[at >> 3] ?? 0;
  bits[at >> 3] = value ? byte | (1 << (at & 7)) : byte & ~(1 << (at & 7));
}

/** Whether an address of a node is on this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}

/** Throws for an address whose requests others can read, unless the operator accepts that. */
export function refusePlain(url: string, plaintext: boolean): void {
  if (plaintext) return;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw new Error(
      `The node at ${url} is not encrypted: give it a NODE_URL with https, or set CLUSTER_PLAINTEXT=1`,
    );
}
