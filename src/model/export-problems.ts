// Problems of sample exports: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const exportProblems = {
  exportsOff: {
    status: 403,
    code: '40390_EXPORTS_OFF',
    message: 'Sample exports are turned off (EXPORT_BYTES is 0)',
  },
  exportNotReady: {
    status: 409,
    code: '40990_EXPORT_NOT_READY',
    message: (d: { id: string; state: string }) =>
      `Export ${d.id} has no file yet (state ${d.state})`,
  },
  tooManyExports: {
    status: 409,
    code: '40991_TOO_MANY_EXPORTS',
    message: (d: { max: number }) =>
      `This organization has ${d.max} exports, the maximum. Delete one, or wait until one expires.`,
  },
  exportTooLarge: {
    status: 507,
    code: '50720_EXPORT_TOO_LARGE',
    message: (d: { bytesMax: number }) =>
      `The export would exceed EXPORT_BYTES (${d.bytesMax} bytes for all exports). Export fewer devices or a shorter interval, or delete other exports.`,
  },
  exportDiskFull: {
    status: 507,
    code: '50721_EXPORT_DISK_FULL',
    message:
      'The disk ran out of space and the export was deleted. Free up space, then start it again.',
  },
  exportElsewhere: {
    status: 503,
    code: '50320_EXPORT_ELSEWHERE',
    message: (d: { id: string; node: string }) =>
      `Export ${d.id} is stored on node ${d.node}. Send the request to that node.`,
  },
} as const satisfies Record<string, ProblemRow>;
