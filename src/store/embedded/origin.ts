// The origin of rows: what retention and usage go by.

export interface Origin {
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
}
