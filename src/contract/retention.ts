// API schema of retention, for workspaces and data flows.
import Type from 'typebox';

// A hundred years: what is longer is for ever.
const daysMax = 36_500;

/** Of a workspace; null is for ever. */
export const workspaceRetentionDays = daysSchema('Retention in days. Null keeps samples forever.');

/** Of a data flow; null is what the workspace says. */
export const dataFlowRetentionDays = daysSchema(
  "Retention of the data flow's samples in days. Null uses the workspace's `retentionDays`.",
);

/** Of a question what a retention would do. */
export const retentionEffectQuery = Type.Object({
  retentionDays: Type.Optional(daysSchema('Retention to preview, in days. Without it, no limit.')),
});

function daysSchema(description: string) {
  return Type.Integer({ minimum: 1, maximum: daysMax, description });
}
