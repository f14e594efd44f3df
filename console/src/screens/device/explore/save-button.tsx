// Save button: keeps the explored lines on a dashboard; its dialog is loaded when it opens.
import { LayoutDashboard } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { late } from '../../../parts/late.tsx';
import { useWords } from '../../../words/language.tsx';
import type { ExploredLines } from '../../dashboards/save-line.ts';
import { exploreWords } from './explore-words.ts';

const SaveDialog = late('SaveDialog', async () => (await import('./save-dialog.tsx')).SaveDialog);

interface SaveButtonProps {
  readonly workspaceId: string;
  readonly lines: ExploredLines;
}

export function SaveButton({ workspaceId, lines }: SaveButtonProps) {
  const words = useWords(exploreWords);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button needs="dashboard: update" onClick={() => setOpen(true)}>
        <LayoutDashboard aria-hidden="true" />
        {words.save}
      </Button>
      {isOpen && (
        <SaveDialog workspaceId={workspaceId} lines={lines} close={() => setOpen(false)} />
      )}
    </>
  );
}
