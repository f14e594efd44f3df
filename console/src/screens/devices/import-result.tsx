// Result of the check of an import: what is ready, and each line with a problem.
import { Link } from '@tanstack/react-router';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import type { BulkWork } from './bulk-work.ts';
import styles from './devices.module.css';
import { labelOf } from './import-columns.tsx';
import type { ImportFile, ImportProblem } from './import-file.ts';
import { importWords } from './import-words.ts';
import { WorkProgress } from './selection-bar.tsx';
import { faultyRows, type Import, type ImportSettings, type RowProblem } from './use-import.ts';

/** More are not repaired by hand; the rest is checked again like them. */
const problemsShown = 200;

interface ImportResultProps {
  readonly file: ImportFile;
  readonly settings: ImportSettings;
  readonly importing: Import;
  readonly work: BulkWork;
}

export function ImportResult({ file, settings, importing, work }: ImportResultProps) {
  const words = useWords(importWords);
  const formats = useFormats();
  const { checked, imported, isChecking } = importing;
  if (work.progress !== undefined) return <WorkProgress progress={work.progress} />;
  if (checked === undefined && file.faults.length === 0) return null;
  const ready = checked?.ready.length ?? 0;
  const faulty = checked === undefined ? [] : faultyRows(checked);
  const creates = checked?.creates ?? 0;
  return (
    <Card title={words.result} isPadded>
      <div className={styles['form']} role="status">
        {imported > 0 && <b>{words.imported(formats.count(imported), imported)}</b>}
        {ready > 0 && (
          <p>
            {words.ready(formats.count(ready), ready)}{' '}
            <span className="mute">
              ({words.creates(formats.count(creates), formats.count(ready - creates))})
            </span>
          </p>
        )}
        {faulty.length > 0 && <p>{words.faulty(formats.count(faulty.length), faulty.length)}</p>}
        {imported > 0 && faulty.length === 0 && <p>{words.doneAll}</p>}
      </div>
      <ProblemTable
        problems={[...file.faults, ...(checked?.problems ?? [])]}
        settings={settings}
        importing={importing}
      />
      <div className={styles['formEnd']}>
        {imported > 0 && (
          <Link
            to="/w/$workspaceId/devices"
            params={{ workspaceId: settings.workspaceId }}
            search={{}}
          >
            {words.list}
          </Link>
        )}
        {faulty.length > 0 && (
          <Button disabled={isChecking} onClick={() => void importing.check(faulty, settings)}>
            {words.checkAgain}
          </Button>
        )}
        {ready > 0 && (
          <Button
            needs="asset: create"
            look="primary"
            onClick={() => void importing.importReady(settings)}
          >
            {words.importNow(formats.count(ready), ready)}
          </Button>
        )}
      </div>
    </Card>
  );
}

interface ProblemTableProps {
  readonly problems: readonly (ImportProblem | RowProblem)[];
  readonly settings: ImportSettings;
  readonly importing: Import;
}

function ProblemTable({ problems, settings, importing }: ProblemTableProps) {
  const words = useWords(importWords);
  const formats = useFormats();
  if (problems.length === 0) return null;
  const more = problems.length - problemsShown;
  return (
    <div className={styles['failed']}>
      <table aria-label={words.problemTable}>
        <thead>
          <tr>
            <th scope="col">{words.line}</th>
            <th scope="col">{words.field}</th>
            <th scope="col">{words.value}</th>
            <th scope="col">{words.reason}</th>
          </tr>
        </thead>
        <tbody>
          {problems.slice(0, problemsShown).map((problem) => (
            <tr key={`${problem.line} ${problem.field} ${problem.message}`}>
              <td className="num">{problem.line}</td>
              <td>{problem.field === null ? words.wholeLine : labelOf(problem.field, words)}</td>
              <td>
                <Repair problem={problem} settings={settings} importing={importing} />
              </td>
              <td>{problem.message}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p className="mute">{words.more(formats.count(more))}</p>}
    </div>
  );
}

interface RepairProps extends Omit<ProblemTableProps, 'problems'> {
  readonly problem: ImportProblem | RowProblem;
}

/** A field with a column is repaired here; any other needs another column or another file. */
function Repair({ problem, settings, importing }: RepairProps) {
  const words = useWords(importWords);
  const { field, line } = problem;
  const column = settings.mapping[field ?? ''];
  if (!('row' in problem) || field === null || column === undefined) return null;
  return (
    <input
      className={styles['repair']}
      aria-label={words.repair(labelOf(field, words), line)}
      value={problem.row.cells[column] ?? ''}
      onChange={(event) => importing.repair(problem.row, column, event.target.value)}
    />
  );
}
