// Reader: who asks for a dashboard: the session of the console, or the token of a shared link.
import { createContext, use } from 'react';
import createClient from 'openapi-fetch';
import type { paths } from '../../../../generated/interface-types.ts';
import { platform } from '../../../api/platform.ts';

export interface Reader {
  readonly requests: Pick<typeof platform, 'GET' | 'POST'>;
  /** Part of the keys of the cache, so that no answer is shown to another reader. */
  readonly name: string;
  /** Only a session has the live stream and the records of devices. */
  readonly isShared: boolean;
}

const own: Reader = { requests: platform, name: 'session', isShared: false };

const ReaderContext = createContext<Reader>(own);
export const ReaderProvider = ReaderContext;

export function useReader(): Reader {
  return use(ReaderContext);
}

/** The token is sent as a bearer token; a session that the browser also has is not. */
export function sharedReader(token: string): Reader {
  const requests = createClient<paths>({
    baseUrl: '',
    credentials: 'omit',
    headers: { authorization: `Bearer ${token}` },
  });
  return { requests, name: token, isShared: true };
}
