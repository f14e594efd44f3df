// Place for the file of an import: chosen by a button, or dropped.
import { Upload } from 'lucide-react';
import { type DragEvent, useState } from 'react';
import { Sheet } from '../../parts/card.tsx';
import { useWords } from '../../words/language.tsx';
import styles from './devices.module.css';
import { type ImportFile, readImportFile } from './import-file.ts';
import { importWords } from './import-words.ts';

/** The platform takes no larger file. */
const fileBytesMax = 32 * 1024 * 1024;

interface ImportDropProps {
  readonly workspaceId: string;
  readonly choose: (file: ImportFile) => void;
}

export function ImportDrop({ workspaceId, choose }: ImportDropProps) {
  const words = useWords(importWords);
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > fileBytesMax) return setProblem(words.tooLarge);
    const content = readImportFile(file.name, await file.text());
    if (content.rows.length + content.faults.length === 0) setProblem(words.noRows);
    else choose(content);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void read(event.dataTransfer.files[0]);
  };
  const example = `/v3/devices/export?workspaceId=${workspaceId}&format=csv`;
  return (
    <Sheet>
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the button inside does the same by keyboard */}
      <div
        className={styles['drop']}
        data-over={isOver}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <Upload aria-hidden="true" />
        <label className={styles['file']}>
          {words.choose}
          <input
            type="file"
            accept=".csv,text/csv"
            onChange={(event) => void read(event.target.files?.[0])}
          />
        </label>
        <span className="mute">{words.drop}</span>
        {problem !== undefined && <span role="alert">{problem}</span>}
        <a className={styles['link']} href={example} download="devices.csv">
          {words.example}
        </a>
      </div>
    </Sheet>
  );
}
