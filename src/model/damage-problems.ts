// Problems of stored samples that are damaged: rows of the table in problem.ts.

export const damageProblems = {
  samplesDamaged: {
    status: 500,
    code: '50010_SAMPLES_DAMAGED',
    message: (d: { deviceId: string; topic: string; from: string; to: string; place: string }) =>
      `Samples of device ${d.deviceId}, topic ${d.topic}, from ${d.from} to ${d.to} are corrupted on disk (${d.place}). ` +
      'Query another interval, or ask the operator to restore them from a backup.',
  },
};
