// Code editor: CodeMirror in a shadow root, where its style sheets pass the content policy.
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  type CompletionSource,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript, localCompletionSource } from '@codemirror/lang-javascript';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { codeColors, codeLook } from './code-look.ts';
import styles from './device-type.module.css';
import type { ScriptProblem } from './script-run.ts';

interface CodeEditorProps {
  readonly label: string;
  /** Code at the start; another `key` begins again. */
  readonly initialCode: string;
  readonly problem: ScriptProblem | undefined;
  readonly completions: CompletionSource;
  readonly change: (code: string) => void;
  readonly run: () => void;
  readonly save: () => void;
}

export function CodeEditor(props: CodeEditorProps) {
  const { label, initialCode, problem, completions } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  const start = useRef({ label, initialCode, completions });
  useEffect(() => {
    if (host.current === null) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const editor = new EditorView({ root, state: stateOf(start.current, latest) });
    root.append(editor.dom);
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const marks = problem === undefined ? [] : [diagnosticOf(editor.state.doc, problem)];
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [problem]);
  return <div ref={host} className={styles['code']} />;
}

type Start = Pick<CodeEditorProps, 'label' | 'initialCode' | 'completions'>;

function stateOf(start: Start, latest: { readonly current: CodeEditorProps }): EditorState {
  const does = (act: 'run' | 'save') => () => {
    latest.current[act]();
    return true;
  };
  return EditorState.create({
    doc: start.initialCode,
    extensions: [
      keymap.of([
        { key: 'Mod-Enter', run: does('run') },
        { key: 'Mod-s', run: does('save'), preventDefault: true },
      ]),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) latest.current.change(state.doc.toString());
      }),
      autocompletion({ override: [start.completions, localCompletionSource] }),
      EditorView.contentAttributes.of({ 'aria-label': start.label, tabindex: '0' }),
      ...editing,
    ],
  });
}

const editing: readonly Extension[] = [
  lineNumbers(),
  lintGutter(),
  history(),
  drawSelection(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  bracketMatching(),
  closeBrackets(),
  indentOnInput(),
  javascript(),
  syntaxHighlighting(codeColors),
  codeLook,
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]),
];

/** The rest of the line from the named column on, or the whole line where nothing is left. */
function diagnosticOf(code: Text, { line, column, message }: ScriptProblem): Diagnostic {
  const { from, to } = code.line(Math.min(Math.max(1, line), code.lines));
  const place = from + column - 1;
  return { from: place < to ? place : from, to, severity: 'error', message };
}
