// Notes button: opens the notes of a chart from the actions of its tile, also by keyboard.
import { StickyNote } from 'lucide-react';
import { useState } from 'react';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { Button } from '../../../ui/button.tsx';
import { late } from '../../../ui/late.tsx';
import { useWords } from '../../../words/language.tsx';
import { useTileFrame } from '../tiles/tile-data.ts';
import { noteWords } from './note-words.ts';
import { useChartNotes } from './use-notes.ts';

export const NotesDialog = late(
  'NotesDialog',
  async () => (await import('./notes-dialog.tsx')).NotesDialog,
);

interface NotesButtonProps {
  readonly tile: BoundTile;
  readonly title: string;
}

export function NotesButton({ tile, title }: NotesButtonProps) {
  const words = useWords(noteWords);
  const { workspaceId, data } = useTileFrame();
  const shown = useChartNotes(tile);
  const [at, setAt] = useState<number>();
  if (shown.deviceIds.length === 0) return null;
  // A new note begins now, or at the end of a range that is over.
  const begin = () =>
    (data.isFixed ? Math.min(Date.now(), data.interval.toMs) : Date.now()) / 1_000;
  return (
    <>
      <Button
        look="ghost"
        isIcon
        aria-label={words.notes(title)}
        title={words.notes(title)}
        onClick={() => setAt(begin())}
      >
        <StickyNote aria-hidden="true" />
      </Button>
      {at !== undefined && (
        <NotesDialog
          workspaceId={workspaceId}
          title={title}
          shown={shown}
          at={at}
          zone={data.zone}
          close={() => setAt(undefined)}
        />
      )}
    </>
  );
}
