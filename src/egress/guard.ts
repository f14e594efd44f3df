// Egress guard: connections to targets that a user may choose go to checked addresses only.
// It does not follow redirects, so an answer cannot lead to another target.
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import type { RequestInit, Response } from 'undici';
import { problem } from '../model/problem.ts';
import { EgressRefused } from './egress-refused.ts';
import { createGuardedConnections, type GuardedConnections } from './guarded-connections.ts';
import { createHostCheck, type HostCheck, type HostCheckOptions } from './host-check.ts';
import { createHttpDispatchers, httpClient, type HttpDispatchers } from './http-dispatchers.ts';

export interface EgressGuard extends GuardedConnections, HttpDispatchers {
  /**
   * Throws Problem `egressRefused` (400) for a host that is a forbidden address in any notation, a
   * local name, or no host.
   */
  checkLiteral(host: string): void;
  /**
   * The same for the host of an http or https URL; throws Problem `invalidRequest` for what is no
   * such URL.
   */
  checkUrl(url: string, where: string): void;
  /**
   * In place of `dns.lookup`; fails with EgressRefused. Not called by net.connect for numeric
   * hosts: check those first.
   */
  readonly lookup: LookupFunction;
  /** A redirect is an answer like any other and is not followed. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

/** Creates the guard, which owns the connections of `fetch` and `dispatcher` until it is closed. */
export function createEgressGuard(options: HostCheckOptions): EgressGuard {
  const hosts = createHostCheck(options);
  const connections = createGuardedConnections(hosts);
  const dispatchers = createHttpDispatchers(connections);

  function checkLiteral(host: string): void {
    try {
      hosts.checkedHost(host);
    } catch (error) {
      if (!(error instanceof EgressRefused)) throw error;
      throw problem('egressRefused', { host: error.host, reason: error.reason });
    }
  }

  return {
    ...connections,
    ...dispatchers,
    checkLiteral,
    checkUrl(url, where) {
      const parsed = readUrl(url);
      if (parsed === undefined) {
        throw problem('invalidRequest', {
          reason: `body ${where}: must be an http or https URL without user and password`,
        });
      }
      checkLiteral(parsed.hostname);
    },
    lookup: createLookup(hosts),
    async fetch(url, init = {}) {
      const parsed = readUrl(String(url));
      if (parsed === undefined) throw new EgressRefused(String(url), 'unreadable');
      hosts.checkedHost(parsed.hostname);
      return httpClient().fetch(parsed, {
        ...init,
        redirect: 'manual',
        dispatcher: init.dispatcher ?? dispatchers.dispatcher(),
      });
    },
  };
}

function createLookup({ addressesOf }: HostCheck): LookupFunction {
  const askAddresses = callbackify(addressesOf);
  return (hostname, options, callback) => {
    askAddresses(hostname, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const usable = addresses.filter(
        ({ family }) => (familyOf(options.family) ?? family) === family,
      );
      const [first] = usable;
      if (first === undefined)
        return callback(new Error(`${hostname} has no address of the family`), '', 0);
      if (options.all === true) return callback(null, [...usable]);
      return callback(null, first.address, first.family);
    });
  };
}

/** Undefined for any family. */
function familyOf(asked: unknown): 4 | 6 | undefined {
  if (asked === 4 || asked === 6) return asked;
  return undefined;
}

/** Undefined for anything but a plain http or https URL. */
function readUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  return url;
}
