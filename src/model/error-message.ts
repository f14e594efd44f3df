// Error message: the message of a thrown value, because external code can throw any value.

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
