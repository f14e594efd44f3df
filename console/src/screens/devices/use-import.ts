// Import in steps: the file, its check, the import of what is right, and the repair of the rest.
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { type BulkWork, changedIds, type Operation } from './bulk-work.ts';
import {
  changedCell,
  fileToSend,
  type ImportProblem,
  type ImportRow,
  type Mapping,
} from './import-file.ts';
import { importWords } from './import-words.ts';

export interface RowProblem extends ImportProblem {
  readonly row: ImportRow;
}

export interface Checked {
  readonly ready: readonly ImportRow[];
  readonly creates: number;
  readonly problems: readonly RowProblem[];
}

export interface ImportSettings {
  readonly workspaceId: string;
  readonly mode: ImportMode;
  readonly mapping: Mapping;
  readonly defaults: Readonly<Record<string, string>>;
}

export interface Import {
  readonly checked: Checked | undefined;
  readonly isChecking: boolean;
  readonly imported: number;
  readonly check: (rows: readonly ImportRow[], settings: ImportSettings) => Promise<void>;
  readonly repair: (row: ImportRow, column: number, value: string) => void;
  readonly importReady: (settings: ImportSettings) => Promise<void>;
  readonly forget: () => void;
}

export function useImport(work: BulkWork): Import {
  const words = useWords(importWords);
  const formats = useFormats();
  const [checked, setChecked] = useState<Checked>();
  const [isChecking, setChecking] = useState(false);
  const [imported, setImported] = useState(0);
  return {
    checked,
    isChecking,
    imported,
    async check(rows, settings) {
      setChecking(true);
      try {
        setChecked(await checkRows(rows, settings));
      } catch (error) {
        toastFailure(error as Error);
      } finally {
        setChecking(false);
      }
    },
    repair(row, column, value) {
      setChecked((before) => before && repaired(before, row, changedCell(row, column, value)));
    },
    async importReady(settings) {
      const { csv } = fileToSend(checked?.ready ?? [], settings.mapping, settings.defaults);
      await work.run(
        words.importing,
        () => beginImport(settings, csv),
        (operation) => {
          const count = changedIds(operation).length;
          setImported((before) => before + count);
          setChecked((before) => before && { ...before, ready: [], creates: 0 });
          toast(words.imported(formats.count(count), count));
        },
      );
    },
    forget() {
      setChecked(undefined);
      setImported(0);
    },
  };
}

async function checkRows(rows: readonly ImportRow[], settings: ImportSettings): Promise<Checked> {
  const { csv, rowOfLine } = fileToSend(rows, settings.mapping, settings.defaults);
  const report = await checkImport(settings, csv);
  const problems = report.problems.flatMap(({ line, field, message }): RowProblem[] => {
    const row = rowOfLine.get(line) ?? rows[0];
    return row === undefined ? [] : [{ row, line: row.line, field, message }];
  });
  const faulty = new Set(problems.map(({ row }) => row));
  return { ready: rows.filter((row) => !faulty.has(row)), creates: report.creates, problems };
}

function repaired(before: Checked, row: ImportRow, changed: ImportRow): Checked {
  const problems = before.problems.map((one) => (one.row === row ? { ...one, row: changed } : one));
  return { ...before, problems };
}

/** The rows of the problems, each once. */
export function faultyRows({ problems }: Checked): readonly ImportRow[] {
  return [...new Set(problems.map(({ row }) => row))];
}

// Requests of the import: a check that changes nothing, and the import itself.

type ImportReport = components['schemas']['DeviceImportReport'];
type ImportMode = 'create' | 'upsert';

interface ImportPlace {
  readonly workspaceId: string;
  readonly mode: ImportMode;
}

async function checkImport(place: ImportPlace, csv: string): Promise<ImportReport> {
  return (await sendFile({ ...place, dryRun: true }, csv)) as ImportReport;
}

/** A file with any problem is refused whole. */
async function beginImport(place: ImportPlace, csv: string): Promise<Operation> {
  return (await sendFile(place, csv)) as Operation;
}

function sendFile(
  query: ImportPlace & { readonly dryRun?: boolean },
  csv: string,
): Promise<ImportReport | Operation> {
  return ask(
    platform.POST('/v3/devices/import', {
      params: { query },
      headers: { 'content-type': 'text/csv' },
      body: csv as never,
      bodySerializer: String,
    }),
  );
}
