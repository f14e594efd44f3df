// Endpoint of the facts about the installation that need no credential (contract 37).
import { aboutSchema } from '../about.ts';
import { endpoint } from '../endpoint.ts';

export const about = {
  read: endpoint({
    method: 'GET',
    path: '/v3/about',
    summary: 'Get installation info',
    description:
      'Returns the name, version, and enabled features of the installation, and whether the caller is signed in.',
    tag: 'Sign-in',
    access: { open: 'No authentication.' },
    response: aboutSchema,
  }),
} as const;
