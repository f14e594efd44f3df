// File drop: a file is chosen by a button, or dropped on the area around it.
import { Upload } from 'lucide-react';
import { type DragEvent, type ReactNode, useState } from 'react';
import styles from './file-drop.module.css';

interface FileDropProps {
  /** As of an input of files. */
  readonly accept: string;
  readonly words: {
    readonly chooseFile: string;
    readonly drop: string;
  };
  readonly choose: (file: File | undefined) => void;
  /** Notes below the button. */
  readonly children?: ReactNode;
}

export function FileDrop({ accept, words, choose, children }: FileDropProps) {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    choose(event.dataTransfer.files[0]);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the button inside does the same by keyboard
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
        {words.chooseFile}
        <input type="file" accept={accept} onChange={({ target }) => choose(target.files?.[0])} />
      </label>
      <span className="mute">{words.drop}</span>
      {children}
    </div>
  );
}
