// Problems of sample exports: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const exportProblems = {
  exportsOff: {
    status: 403,
    code: '40390_EXPORTS_OFF',
    message: 'Sample exports are switched off on this installation (EXPORT_BYTES is 0)',
  },
  exportNotReady: {
    status: 409,
    code: '40990_EXPORT_NOT_READY',
    message: (d: { id: string; state: string }) =>
      `Export ${d.id} has no file yet: its state is ${d.state}`,
  },
  tooManyExports: {
    status: 409,
    code: '40991_TOO_MANY_EXPORTS',
    message: (d: { max: number }) =>
      `This organization has ${d.max} exports, which is the most: delete one, or wait until one expires`,
  },
  exportTooLarge: {
    status: 507,
    code: '50720_EXPORT_TOO_LARGE',
    message: (d: { bytesMax: number }) =>
      `The files of all exports may have ${d.bytesMax} bytes (EXPORT_BYTES): export fewer devices or a shorter time, or delete other exports`,
  },
  exportDiskFull: {
    status: 507,
    code: '50721_EXPORT_DISK_FULL',
    message:
      'The disk of the platform is too full for this export; its file was removed. Make room, then export again',
  },
  exportElsewhere: {
    status: 503,
    code: '50320_EXPORT_ELSEWHERE',
    message: (d: { id: string; node: string }) =>
      `The file of export ${d.id} is on node ${d.node}: send the request to that node`,
  },
} as const satisfies Record<string, ProblemRow>;
