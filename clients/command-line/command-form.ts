// Command form: what a command of `heliograph` consists of, and what it runs with.
import type { Client } from '../typescript/client.ts';

export interface Option {
  readonly type: 'string' | 'boolean';
  /** Shown for its value in help. */
  readonly value?: string;
  readonly help: string;
}

/** What a command runs with. */
export interface Run {
  readonly client: Client;
  readonly url: string;
  readonly key: string;
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly isJson: boolean;
  readonly signal: AbortSignal;
  /** Writes to standard output; resolves when it was taken. */
  readonly write: (text: string) => Promise<void>;
  /** Writes a line for people to standard error. */
  readonly report: (line: string) => void;
}

export interface Command {
  readonly summary: string;
  /** The words behind its name. */
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  readonly run: (run: Run) => Promise<void>;
}
