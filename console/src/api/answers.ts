// Cache of answers: shared by all screens, so that nothing is asked for twice.
import { onlineManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { connection } from './connection.ts';
import { Refusal } from './platform.ts';

const freshMs = 15_000;
/** Of the platform's own failures, which may pass. */
const retriesMax = 2;
/** Without a connection: its return asks for everything again. */
const unreachableRetriesMax = 1;

/** Every answer of an organization that demands a second factor from now on. */
const closedCode = '40393_SECOND_FACTOR_REQUIRED';

const cache = new QueryCache({
  onError(error) {
    // The account says what is closed; the shell then leads to the page for a second factor.
    if (error instanceof Refusal && error.errorCode === closedCode)
      void answers.invalidateQueries({ queryKey: ['account'] });
  },
});

export const answers: QueryClient = new QueryClient({
  queryCache: cache,
  defaultOptions: {
    queries: { staleTime: freshMs, retry: mayTryAgain, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

// Requests are made without a network too, so that each part says that it failed instead of waiting.
onlineManager.setEventListener(() => () => undefined);
connection.onReturn(() => void answers.refetchQueries({ type: 'active', stale: true }));

/** A refusal stays a refusal; only failures of the platform or of the network may pass. */
function mayTryAgain(failures: number, error: Error): boolean {
  if (!(error instanceof Refusal)) return failures < retriesMax;
  if (error.status === 0) return failures < unreachableRetriesMax;
  return error.status >= 500 && failures < retriesMax;
}
