// The header Host: a request with two of them is refused (RFC 9112, section 3.2), because a proxy may have read the other one.
import { problem } from '../../model/problem.ts';

/** `rawHeaders` holds names and values in turn. Throws Problem 400 for two of the name. */
export function refuseTwoHosts(rawHeaders: readonly string[]): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) throw problem('invalidRequest', { reason: 'The header Host is sent twice' });
}
