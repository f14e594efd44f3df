// Expected cells of the authorization matrix: the endpoints of consoles (contract 37).
import type { Cell } from './route-cell.ts';

const preferences = '/v3/auth/me/preferences';
const own: Cell = { who: 'anyUser', level: 'none', path: () => preferences };

export const consoleCells: Readonly<Record<string, Cell>> = {
  'GET /v3/about': { who: 'anybody', level: 'none', path: () => '/v3/about' },
  'GET /v3/auth/me': { who: 'anyCredential', level: 'none', path: () => '/v3/auth/me' },
  [`GET ${preferences}`]: own,
  [`PUT ${preferences}`]: { ...own, body: () => ({}) },
};
