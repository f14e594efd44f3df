// Cache of answers: shared by all screens, so that nothing is asked for twice.
import { QueryClient } from '@tanstack/react-query';
import { Refusal } from './refusal.ts';

const freshMs = 15_000;
const triesMax = 2;

export const answers = new QueryClient({
  defaultOptions: {
    queries: { staleTime: freshMs, retry: mayTryAgain, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

/** A refusal stays a refusal; only failures of the platform or of the network may pass. */
function mayTryAgain(failures: number, error: Error): boolean {
  const isFinal = error instanceof Refusal && error.status >= 400 && error.status < 500;
  return !isFinal && failures < triesMax;
}
