// Public address: the address of the platform in links and tokens, known when its port is bound.
import type { Config } from './config/config.ts';

/** The URL of the settings while the system has not chosen the port. */
const unbound = /^(https?):\/\/localhost:0$/;

export interface PublicAddress {
  /** Without a slash at its end. */
  readonly url: () => string;
  /** The `aud` of tokens of devices. */
  readonly deviceAudience: () => string;
  /** With `PORT=0` the system chooses the port: call before the first request. */
  readonly bound: (port: number) => void;
}

export function createPublicAddress({ publicUrl, deviceAudience }: Config): PublicAddress {
  let bound: number | undefined;
  const known = (url: string): string =>
    bound === undefined ? url : url.replace(unbound, `$1://localhost:${bound}`);
  return {
    url: () => known(publicUrl),
    deviceAudience: () => known(deviceAudience),
    bound: (port) => void (bound = port),
  };
}
