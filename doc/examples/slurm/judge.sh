#!/usr/bin/env bash
# One part of a run, as a task of an array: sbatch --array=1-8 --requeue judge.sh ./libmine.so --operators 'add*,mul'
# A restarted task continues where it stopped. After the last task, assay merge makes one run from part-*.jsonl.
#SBATCH --job-name=assay --open-mode=append
part=part-$SLURM_ARRAY_TASK_ID.jsonl
resume=()
if [ -e "$part" ] || [ -e "$part.part" ]; then resume=(--resume); fi
testee=$1
shift
assay kernels "$testee" "$@" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --workers "${SLURM_CPUS_ON_NODE:-1}" -o "$part" "${resume[@]}"
[ $? -le 1 ] # 1: kernels disagree with the reference, a successful run
