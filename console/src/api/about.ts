// About: the facts about the installation, asked for once.
import { queryOptions } from '@tanstack/react-query';
import { ask, platform } from './platform.ts';

export const aboutQuery = queryOptions({
  queryKey: ['about'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: ({ signal }) => ask(platform.GET('/v3/about', { signal })),
});
