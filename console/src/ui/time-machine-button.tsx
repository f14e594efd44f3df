// Time machine button: shows a page as of a moment, at first that of the click.
import { History } from 'lucide-react';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { timeMachineWords } from './time-machine-words.ts';

export function TimeMachineButton({ show }: { readonly show: (at: string) => void }) {
  const words = useWords(timeMachineWords);
  return (
    <Button data-brief title={words.start} onClick={() => show(new Date().toISOString())}>
      <History aria-hidden="true" />
      <span>{words.start}</span>
    </Button>
  );
}
