// Operation ids: the names of methods in generated clients, derived from method and path.
import type { Endpoint, Method } from './endpoint.ts';

type Named = Pick<Endpoint, 'method' | 'path' | 'status' | 'operationId'>;

/**
 * The declared id, or one such as `getDevice`, `getDevices`, `createDevice`,
 * `postDeviceQueryRawKpi`.
 */
export function operationIdOf({ method, path, status, operationId }: Named): string {
  if (operationId !== undefined) return operationId;
  const steps = path.split('/').filter((step) => step !== '' && step !== 'v3');
  const words = steps.flatMap((step, at) => {
    // A word that is its own plural does not tell one from many.
    if (step.startsWith(':'))
      return steps[at - 1] === singular(steps[at - 1] ?? '') ? [`By${pascal(step)}`] : [];
    const isOne = steps[at + 1]?.startsWith(':') === true;
    const isMade = method === 'POST' && status === 201 && at === steps.length - 1;
    return [pascal(isOne || isMade ? singular(step) : step)];
  });
  return verbOf(method, status) + words.join('');
}

function verbOf(method: Method, status: number | undefined): string {
  if (method === 'POST') return status === 201 ? 'create' : 'post';
  return { GET: 'get', PUT: 'update', DELETE: 'delete' }[method];
}

function pascal(step: string): string {
  const words = step.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function singular(step: string): string {
  if (step.endsWith('ies')) return `${step.slice(0, -3)}y`;
  return step.endsWith('s') && !step.endsWith('ss') ? step.slice(0, -1) : step;
}
