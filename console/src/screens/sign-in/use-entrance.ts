// Entrance: back to the page that asked for the sign-in, once a session has begun.
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { discardSession } from '../../session/session.ts';

/** Discards the answers of another session, and leads to the page of the search parameter `to`. */
export function useEntrance(): () => Promise<void> {
  return useReturn(useSearch({ from: '/sign-in' }).to);
}

/** The same for an address that is given. */
export function useReturn(to: string | undefined): () => Promise<void> {
  const navigate = useNavigate();
  const { history } = useRouter();
  return async () => {
    discardSession();
    // An address of another site is not a way back.
    if (to?.startsWith('/') === true && !to.startsWith('//')) history.push(to);
    else await navigate({ to: '/' });
  };
}
