// Host header: a request with two is rejected, because a proxy may have read the other one (RFC 9112, section 3.2).
import { problem } from '../../model/problem.ts';

/** Throws Problem 400 for two Host headers; names and values alternate in `rawHeaders`. */
export function refuseTwoHosts(rawHeaders: readonly string[]): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) throw problem('invalidRequest', { reason: 'The header Host is sent twice' });
}
