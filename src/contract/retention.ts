// API schema of retention, for workspaces and data flows.
import Type from 'typebox';

// A hundred years: what is longer is for ever.
const daysMax = 36_500;

/** Of a workspace; null is for ever. */
export const workspaceRetentionDays = daysSchema(
  'Samples older than so many days are dropped; null keeps them for ever',
);

/** Of a data flow; null is what the workspace says. */
export const dataFlowRetentionDays = daysSchema(
  "Samples of the data flow older than so many days are dropped; null is the workspace's retentionDays",
);

/** Of a question what a retention would do. */
export const retentionEffectQuery = Type.Object({
  retentionDays: Type.Optional(
    daysSchema('In place of the rule of the workspace; absent: without limit'),
  ),
});

function daysSchema(description: string) {
  return Type.Integer({ minimum: 1, maximum: daysMax, description });
}
