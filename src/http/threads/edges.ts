// Edges: threads that take the connections of the HTTP port, so that one machine uses several processors.
import type { Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { Worker } from 'node:worker_threads';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import { declaredEncoding } from '../../model/payload.ts';
import type { UplinkScript } from '../../model/uplink.ts';
import {
  localScriptsStart,
  type LocalScriptsStart,
  LocalScriptsWatch,
  type QuickScripts,
} from '../../scripting/local-scripts.ts';
import { type RunFigures, ScriptRegistry } from '../../scripting/script-machine.ts';
import type { LeftJson } from '../../query/unwritten-json.ts';
import type { Certificate } from '../../structures/certificate-watch.ts';
import { setRepeatingTimer } from '../../structures/timers.ts';
import { atTurnEnd } from '../../structures/turns.ts';
import { BusyTime } from '../../telemetry/metric-makers.ts';
import type { MqttListener } from '../../transports/mqtt/mqtt-listeners.ts';
import { type EarlyCapture, scriptOf, uplinkDeviceOf } from '../../uplinks/capture/capture.ts';
import { EdgeMessage, EdgeResponse, takePassedOn } from './edge-exchange.ts';
import { httpListener, type Link, Links } from './edge-links.ts';
import {
  type AnswerWord,
  type DecoderRunHere,
  edgeLimits,
  type EdgeStart,
  type FromEdge,
  type ListenError,
  requestsOf,
  ticketKey,
  type ToEdge,
} from './edge-messages.ts';

interface EdgesParts {
  readonly threads: number;
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  readonly publicUrl: string;
  readonly certificate: Certificate | undefined;
  /** Serves what edges read and what they pass on. */
  readonly server: Server;
  /** Makes the server listen on a socket file, and nowhere else. */
  readonly listen: (path: string) => Promise<unknown>;
  readonly decoders: QuickScripts;
  readonly isStateless: (deviceId: string) => boolean;
  readonly ran: (run: RunFigures) => void;
  /** Told the reason why an edge ended that was not asked to. */
  readonly failed: (error: Error) => void;
}

/** How often a thread is looked at that may be stuck in a decoder. */
const watchEveryMs = 50;
/** A thread that ended is started again at once; those that end one after the other wait longer each time. */
const restartMsMax = 5_000;
const longLifeMs = 10_000;
const scriptsMax = 1_000;
const stopMsMax = 1_000;
/** Of sources that edges know altogether. */
const scriptCharsMax = 16 * 1024 * 1024;

export class Edges {
  readonly port: number;
  readonly #parts: EdgesParts;
  readonly #folder: string;
  readonly #newScripts: () => LocalScriptsStart;
  readonly #registry = new ScriptRegistry(scriptsMax, scriptCharsMax);
  readonly #edges = new Set<Edge>();
  readonly #listeners = new Map<number, Listener>();
  #lastListener = httpListener;
  #serve: (link: Link) => void = (link) => link.destroy();
  #certificate: Certificate | undefined;
  #restartMs = 0;
  #isStopping = false;

  private constructor(
    parts: EdgesParts,
    folder: string,
    port: number,
    newScripts: () => LocalScriptsStart,
  ) {
    this.#parts = parts;
    this.#certificate = parts.certificate;
    this.#folder = folder;
    this.port = port;
    this.#newScripts = newScripts;
  }

  /** Makes the server and the threads listen. Throws what listening throws. */
  static async start(parts: EdgesParts): Promise<Edges> {
    const port = await freePort(parts.host, parts.port);
    const newScripts = await localScriptsStart();
    // Only this user can connect to what is in it, and it knows the addresses of clients.
    const folder = await mkdtemp(join(tmpdir(), 'heliograph-'));
    const edges = new Edges(parts, folder, port, newScripts);
    try {
      edges.#serve = takePassedOn(parts.server);
      await parts.listen(edges.#socket);
      await Promise.all(Array.from({ length: parts.threads }, () => edges.#startOne()));
    } catch (error) {
      await edges.end();
      throw error;
    }
    return edges;
  }

  /** New connections get the certificate. Throws, and changes nothing, when it cannot be used. */
  renew(certificate: Certificate): void {
    createSecureContext(certificate);
    this.#certificate = certificate;
    for (const edge of this.#edges) edge.send({ kind: 'certificate', certificate });
  }

  /** As `listenMqtt`, with the connections of the port in the threads. */
  async listenMqtt(
    { host, port: wanted }: { readonly host: string; readonly port: number },
    certificate: Certificate | undefined,
    accept: (link: Link, address: string) => void,
  ): Promise<MqttListener> {
    const port = await freePort(host, wanted);
    const listener: Listener = { host, port, certificate, accept };
    const number = ++this.#lastListener;
    this.#listeners.set(number, listener);
    await Promise.all([...this.#edges].map((edge) => edge.listen(number, listener)));
    return {
      port,
      renew: (next) => {
        createSecureContext(next);
        listener.certificate = next;
        for (const edge of this.#edges)
          edge.send({ kind: 'renew', listener: number, certificate: next });
      },
      close: () => {
        this.#listeners.delete(number);
        for (const edge of this.#edges) edge.send({ kind: 'unlisten', listener: number });
      },
    };
  }

  /** How busy each thread was since the last call, from 0 to 1, by its name. */
  busyRatios(): (readonly [string, number])[] {
    return [...this.#edges].map((edge, at) => [`edge ${at + 1}`, edge.busyRatio()]);
  }

  /** The threads take no new connections. Resolves when what they read is answered, after a second at most. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const stopped = Promise.all([...this.#edges].map((edge) => edge.stop()));
    const late = new AbortController();
    const limit = wait(stopMsMax, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([stopped, limit]);
    late.abort();
  }

  async end(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#edges].map((edge) => edge.end()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #socket(): string {
    return join(this.#folder, 'http');
  }

  async #startOne(): Promise<void> {
    const { host, publicUrl } = this.#parts;
    const scripts = this.#newScripts();
    const startedAt = performance.now();
    const start: EdgeStart = {
      host,
      port: this.port,
      mainSocket: this.#socket,
      publicUrl,
      certificate: this.#certificate,
      scripts,
    };
    const edge = new Edge(start, this.#parts, this.#registry, {
      refused: (script) => this.#refuse(script),
      opened: (link) => this.#opened(link),
      ended: (error) => {
        this.#edges.delete(edge);
        if (this.#isStopping) return;
        this.#parts.failed(error);
        this.#startAgain(performance.now() - startedAt);
      },
    });
    this.#edges.add(edge);
    await edge.listening;
    for (const [number, listener] of this.#listeners) await edge.listen(number, listener);
  }

  #opened(link: Link): void {
    if (link.listener === httpListener) return this.#serve(link);
    const listener = this.#listeners.get(link.listener);
    if (listener === undefined) link.destroy();
    else listener.accept(link, link.remoteAddress);
  }

  /** No edge runs the script from now on. */
  #refuse(script: UplinkScript): void {
    this.#parts.decoders.refuse(script);
    const { id } = this.#registry.of(script.tenant, script.code);
    for (const edge of this.#edges) edge.forget(id);
  }

  /** In place of one that lived so long. */
  #startAgain(livedMs: number): void {
    if (livedMs > longLifeMs) this.#restartMs = 0;
    // One that ends before it listens says so by its end too.
    const start = () => (this.#isStopping ? undefined : this.#startOne().catch(() => undefined));
    setTimeout(() => void start(), this.#restartMs).unref();
    this.#restartMs = Math.min(restartMsMax, this.#restartMs * 2 + 100);
  }
}

/**
 * A port that is free for the threads, which share it. Throws the error of a port that somebody has:
 * they would share it too.
 */
async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer();
  probe.listen({ host, port });
  await once(probe, 'listening');
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return free;
}

/** A further port, whose connections threads take. */
interface Listener {
  readonly host: string;
  readonly port: number;
  certificate: Certificate | undefined;
  readonly accept: (link: Link, address: string) => void;
}

/** A device whose decoder an edge runs. */
interface Ticketed {
  readonly key: string;
  readonly route: UplinkRoute;
  readonly script: UplinkScript;
}

/** When all tickets are given, only some of the uplinks without one take that of another device. */
const replacedPart = 1 / 16;

interface EdgeEvents {
  /** A run of the script took too long, or left a state. */
  readonly refused: (script: UplinkScript) => void;
  /** The thread has a connection for the main thread. */
  readonly opened: (link: Link) => void;
  /** The thread ended that was not asked to. */
  readonly ended: (error: Error) => void;
}

/** One thread, seen from the main thread. */
class Edge {
  /** Rejects with the error of listening. */
  readonly listening: Promise<void>;
  readonly #parts: EdgesParts;
  readonly #registry: ScriptRegistry;
  readonly #events: EdgeEvents;
  readonly #worker: Worker;
  readonly #watch: LocalScriptsWatch;
  readonly #listens = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  /** By their listeners. */
  readonly #listensTo = new Map<number, PromiseWithResolvers<void>>();
  /** By their ids, oldest first. */
  readonly #tickets = new Map<number, Ticketed>();
  /** By service ids of devices. */
  readonly #ticketOf = new Map<string, number>();
  #lastTicket = 0;
  /** By their numbers: the scripts that the thread has. */
  readonly #scripts = new Map<number, UplinkScript>();
  readonly #busy: BusyTime;
  readonly #links: Links;
  #stopWatching: (() => void) | undefined;
  #answers: AnswerWord[] = [];
  #isEnded = false;

  constructor(start: EdgeStart, parts: EdgesParts, registry: ScriptRegistry, events: EdgeEvents) {
    this.#parts = parts;
    this.#registry = registry;
    this.#events = events;
    this.#watch = new LocalScriptsWatch(start.scripts);
    this.listening = this.#listens.promise;
    this.#worker = new Worker(new URL('./edge-thread.ts', import.meta.url), {
      name: 'edge',
      workerData: start,
      env: {},
      execArgv: [],
    });
    this.#links = new Links(
      (message, transfer) => this.#worker.postMessage(message, transfer),
      events.opened,
    );
    this.#busy = new BusyTime(this.#worker.performance.eventLoopUtilization);
    this.#worker.on('message', (message: FromEdge) => this.#receive(message));
    this.#worker.on('error', (error: Error) => this.#leave(error));
    this.#worker.on('exit', () => this.#leave(new Error('An edge thread ended')));
  }

  send(message: ToEdge): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
    this.#worker.postMessage(message);
  }

  /** Resolves when every request that the thread read is answered, or it has ended. */
  stop(): Promise<void> {
    this.send({ kind: 'stop' });
    return this.#stopped.promise;
  }

  /** Rejects with the error of listening. */
  listen(listener: number, { host, port, certificate }: Listener): Promise<void> {
    const listens = Promise.withResolvers<void>();
    this.#listensTo.set(listener, listens);
    this.send({ kind: 'listen', listener, host, port, certificate });
    return listens.promise;
  }

  busyRatio(): number {
    return this.#busy.ratio();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#stopWatching?.();
    this.#links.cutAll();
    await this.#worker.terminate();
  }

  #receive(message: FromEdge): void {
    if (message.kind === 'requests') this.#serveAll(message);
    else if (message.kind === 'links') this.#links.receive(message);
    else if (message.kind === 'listening') this.#listens.resolve();
    else if (message.kind === 'listens') this.#listensTo.get(message.listener)?.resolve();
    else if (message.kind === 'stopped') this.#stopped.resolve();
    else if (message.kind === 'refused') this.#leave(listenError(message.error));
    else this.#forgotten(message);
  }

  #leave(error: Error): void {
    for (const listens of [this.#listens, ...this.#listensTo.values()]) listens.reject(error);
    this.#stopped.resolve();
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopWatching?.();
    this.#links.cutAll();
    this.#events.ended(error);
  }

  #serveAll({ words, bytes }: FromEdge & { readonly kind: 'requests' }): void {
    let at = 0;
    for (const request of requestsOf(words)) {
      const body = Buffer.from(bytes.buffer, at, request.bodyBytes);
      at += request.bodyBytes;
      const run = request.run && this.#accepted(request.run);
      const found = (route: UplinkRoute) => {
        if (run?.route !== route) this.#offer(route);
      };
      const message = new EdgeMessage(request, body, { run, found });
      const response = new EdgeResponse(
        message,
        (...answer) => this.#answer(request.number, ...answer),
        true,
      );
      this.#parts.server.emit('request', message, response);
    }
  }

  /** Answers of one turn of the event loop share a message. */
  #answer(
    number: number,
    status: number,
    head: string[],
    body: string | Uint8Array,
    left?: LeftJson,
  ): void {
    if (this.#answers.length === 0)
      atTurnEnd(() => {
        const words = this.#answers;
        this.#answers = [];
        if (!this.#isEnded) this.send({ kind: 'answers', words });
      });
    this.#answers.push(number, status, head, body, left);
  }

  /** Undefined when the script must run again: it may no longer run in an edge. */
  #accepted({ ticket, processorMs, ...run }: DecoderRunHere): EarlyCapture | undefined {
    const ticketed = this.#tickets.get(ticket);
    if (ticketed === undefined) return undefined;
    const { route, script } = ticketed;
    const { durationMs, entries } = run;
    const outcome = entries.includes('"ERROR"') ? 'error' : 'ended';
    this.#parts.ran({ kind: 'edge', outcome, waitMs: 0, durationMs });
    this.#parts.decoders.note(script, processorMs, false);
    if (this.#parts.decoders.isQuick(script)) return { ...run, route };
    this.forget(this.#registry.of(script.tenant, script.code).id);
    return undefined;
  }

  /** The next uplinks of the device may be decoded in the edge. */
  #offer(route: UplinkRoute): void {
    const { device } = route;
    const script = scriptOf(route);
    const { decoders, isStateless } = this.#parts;
    if (script === null || !decoders.isQuick(script) || !isStateless(device.id)) return;
    const { uplinkSecret } = route.connector;
    const isFull = this.#tickets.size >= edgeLimits.ticketsMax;
    if (uplinkSecret === null || (isFull && Math.random() > replacedPart)) return;
    // What was run with an earlier ticket of the device does not count any more.
    this.#tickets.delete(this.#ticketOf.get(device.id) ?? -1);
    const instead = isFull ? this.#dropOldest() : undefined;
    const id = ++this.#lastTicket;
    const key = ticketKey(uplinkSecret, device.deviceId);
    this.#tickets.set(id, { key, route, script });
    this.#ticketOf.set(device.id, id);
    const registration = this.#registry.of(script.tenant, script.code);
    const isKnown = this.#scripts.has(registration.id);
    this.#scripts.set(registration.id, script);
    this.send({
      kind: 'ticket',
      ticket: {
        id,
        key,
        device: uplinkDeviceOf(route),
        encoding: declaredEncoding(route),
        script: registration.id,
      },
      instead,
      script: isKnown ? undefined : registration,
    });
    this.#stopWatching ??= setRepeatingTimer(() => this.#lookAtRun(), watchEveryMs);
  }

  /** Returns its key. */
  #dropOldest(): string | undefined {
    for (const [id, { key, route }] of this.#tickets) {
      this.#tickets.delete(id);
      this.#ticketOf.delete(route.device.id);
      return key;
    }
    return undefined;
  }

  forget(script: number): void {
    if (this.#scripts.delete(script)) this.send({ kind: 'forget', script });
  }

  #forgotten({ scripts, isSlow }: FromEdge & { readonly kind: 'forgotten' }): void {
    for (const id of scripts) {
      const script = this.#scripts.get(id);
      this.#scripts.delete(id);
      if (isSlow && script !== undefined) this.#events.refused(script);
    }
  }

  /** A run that is stuck in a builtin ends with its thread. */
  #lookAtRun(): void {
    const stuck = this.#watch.stuck(performance.now());
    if (stuck === undefined) return;
    const script = this.#scripts.get(stuck);
    this.#leave(new Error('A decoder was stuck in an edge thread, which is started again'));
    void this.#worker.terminate();
    if (script !== undefined) this.#events.refused(script);
  }
}

function listenError({ message, code, syscall, port }: ListenError): Error {
  return Object.assign(new Error(message), { code, syscall, port });
}
