// Problems of alarms: rows of the table in problem.ts.

export const alarmProblems = {
  alarmCleared: {
    status: 409,
    code: '40974_ALARM_CLEARED',
    message: (d: { id: string }) => `Alarm ${d.id} is already cleared`,
  },
  alarmCommentsFull: {
    status: 409,
    code: '40975_ALARM_COMMENTS_FULL',
    message: (d: { id: string; commentsMax: number }) =>
      `Alarm ${d.id} has ${d.commentsMax} comments, the maximum`,
  },
} as const;
