// Logic as JSON: fences and scripts, whose members the interface reference describes.
import { useState } from 'react';
import { TextArea } from '../../parts/field.tsx';
import { useWords } from '../../words/language.tsx';
import { editorWords } from './editor-words.ts';
import type { RuleDraft } from './rule-model.ts';

interface LogicJsonProps {
  readonly logic: RuleDraft['logic'];
  readonly change: (logic: RuleDraft['logic']) => void;
}

/** The input is kept as typed; it counts while it is a JSON object. */
export function LogicJson({ logic, change }: LogicJsonProps) {
  const words = useWords(editorWords);
  const [typed, setTyped] = useState(() => JSON.stringify(logic, null, 2));
  return (
    <TextArea
      label={words.logicJson}
      hint={words.logicHint}
      error={logicIn(typed) === undefined ? words.notJson : undefined}
      rows={14}
      spellCheck={false}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        const read = logicIn(currentTarget.value);
        if (read !== undefined) change(read);
      }}
    />
  );
}

function logicIn(text: string): RuleDraft['logic'] | undefined {
  try {
    const value = JSON.parse(text) as RuleDraft['logic'] | null;
    return Array.isArray(value?.dataSources) ? value : undefined;
  } catch {
    return undefined;
  }
}
