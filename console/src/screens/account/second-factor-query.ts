// Second factor query: what the own account shows besides the password.
import { queryOptions } from '@tanstack/react-query';
import { ask, platform } from '../../api/platform.ts';

export const secondFactorPath = '/v3/auth/second-factor';

export const secondFactorQuery = queryOptions({
  queryKey: ['second-factor'],
  queryFn: ({ signal }) => ask(platform.GET(secondFactorPath, { signal })),
});
