// Message of a thrown value: code that is not ours can throw anything.

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
