// Library import: a folder of device types is read in the browser and sent; refusals are listed by file.
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useAccount } from '../../session/session.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { deviceTypesWords } from './device-types-words.ts';
import styles from './device-types.module.css';

type Summary = components['schemas']['LibraryImport'];

export function LibraryImport({ close }: { readonly close: () => void }) {
  const words = useWords(deviceTypesWords);
  const [files, setFiles] = useState<readonly LibraryFile[]>([]);
  const send = useImport();
  const isReady = typesAmong(files) > 0 && uploadBytesOf(files) <= uploadBytesMax;
  return (
    <Dialog
      title={words.importLibrary}
      close={close}
      isWide
      footer={
        send.data === undefined ? (
          <>
            <Button onClick={close}>{words.cancel}</Button>
            <Button
              look="primary"
              disabled={!isReady || send.isPending}
              onClick={() => send.mutate(files)}
            >
              {send.isPending ? words.importing : words.doImport}
            </Button>
          </>
        ) : (
          <Button key="done" look="primary" onClick={close}>
            {words.done}
          </Button>
        )
      }
    >
      <div className="stack gap-14">
        {send.data === undefined ? (
          <FolderChoice files={files} choose={setFiles} />
        ) : (
          <ImportSummary summary={send.data} />
        )}
        {send.error !== null && <Failure error={send.error} />}
      </div>
    </Dialog>
  );
}

function useImport() {
  const { organizationId } = useAccount();
  const client = useQueryClient();
  return useAction({
    mutationFn: async (files: readonly LibraryFile[]) => {
      const body = await libraryUploadOf(organizationId, files);
      return ask(platform.POST('/v3/device-types/import', { body }));
    },
    onSuccess: () =>
      Promise.all(
        ['device-types', 'device-type'].map((name) =>
          client.invalidateQueries({ queryKey: [name] }),
        ),
      ),
  });
}

interface FolderChoiceProps {
  readonly files: readonly LibraryFile[];
  readonly choose: (files: readonly LibraryFile[]) => void;
}

function FolderChoice({ files, choose }: FolderChoiceProps) {
  const words = useWords(deviceTypesWords);
  const formats = useFormats();
  const [isChosen, setChosen] = useState(false);
  const types = typesAmong(files);
  return (
    <>
      <p className="mute">{words.importNote}</p>
      <label>
        {words.folder}
        <input
          className={styles['file']}
          type="file"
          multiple
          ref={(input) => {
            if (input !== null) input.webkitdirectory = true;
          }}
          onChange={({ target }) => {
            setChosen(true);
            choose(libraryFilesIn(target.files ?? []));
          }}
        />
      </label>
      <p role="status">
        {isChosen && types === 0 && words.noTypes}
        {types > 0 && words.found(files.length, types)}
        {uploadBytesOf(files) > uploadBytesMax &&
          ` ${words.tooLarge(formats.bytes(uploadBytesMax))}`}
      </p>
    </>
  );
}

function ImportSummary({ summary }: { readonly summary: Summary }) {
  const words = useWords(deviceTypesWords);
  const formats = useFormats();
  const { created, updated, unchanged, problems, warnings } = summary;
  const counts = [created, updated, unchanged].map(formats.count) as [string, string, string];
  return (
    <>
      <p role="status">
        <strong>{words.imported(...counts)}</strong>
      </p>
      <Notes title={words.problems} notes={problems} />
      <Notes title={words.warnings} notes={warnings} />
    </>
  );
}

function Notes({
  title,
  notes,
}: {
  readonly title: ReactNode;
  readonly notes: Summary['problems'];
}) {
  if (notes.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus */}
      <ul className={styles['notes']} tabIndex={0}>
        {notes.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <span className="mono">{path}</span> {message}
          </li>
        ))}
      </ul>
    </section>
  );
}

// Library files: what a chosen folder holds for the import of a device type library (contract 7).

type LibraryUpload = components['schemas']['LibraryUpload'];

const textForm = /\.(json|js)$/i;
const pictureForm = /\.(png|jpe?g|gif|webp)$/i;
const skippedForm = /(^|\/)(\.[^/]*|node_modules)\//;

/** Limit of one request, with room for its own syntax, in bytes. */
const uploadBytesMax = 120 * 1024 * 1024;
const base64Growth = 4 / 3;

interface LibraryFile {
  /** Below the chosen folder, with slashes. */
  readonly path: string;
  readonly file: File;
}

/** Files that the import reads; hidden folders and installed packages stay out. */
function libraryFilesIn(chosen: Iterable<File>): LibraryFile[] {
  return [...chosen]
    .map((file) => ({ file, path: file.webkitRelativePath || file.name }))
    .filter(({ path }) => textForm.test(path) || pictureForm.test(path))
    .filter(({ path }) => !skippedForm.test(path));
}

function typesAmong(files: readonly LibraryFile[]): number {
  return files.filter(({ path }) => /(^|\/)meta\.json$/.test(path)).length;
}

function uploadBytesOf(files: readonly LibraryFile[]): number {
  const sizeOf = ({ path, file }: LibraryFile) =>
    file.size * (textForm.test(path) ? 1 : base64Growth);
  return files.reduce((sum, file) => sum + sizeOf(file), 0);
}

async function libraryUploadOf(
  organizationId: string,
  chosen: readonly LibraryFile[],
): Promise<LibraryUpload> {
  const files: Record<string, string> = {};
  const pictures: Record<string, string> = {};
  for (const { path, file } of chosen) {
    if (textForm.test(path)) files[path] = await file.text();
    else pictures[path] = new Uint8Array(await file.arrayBuffer()).toBase64();
  }
  return { organizationId, files, pictures };
}
