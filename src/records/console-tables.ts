// Tables of what users arrange for themselves, as Kysely sees them.

export interface ConsoleTables {
  userPreferences: { userId: string; content: string; updated: number };
}
