/*
 * The judge process and its client speak JSON lines: requests on the judge's
 * stdin, replies on its stdout, one object a line, UTF-8.  End of file on
 * stdin, or the death of the parent, ends the judge and its children.  The
 * judge trusts the client; the client parses the judge's lines strictly
 * anyway.
 *
 * Requests (all have "op" and "id"; strings and numbers only):
 *
 *  open     section  the kernel's normal text (struct kernel.text), without
 *                    the [kernel] head; name: the kernel's name
 *           root     folder with the root's `file` and `use`
 *           aux      folder with these and reference, baseline, rivals
 *           work     private folder for builds and artefacts
 *           sandbox  "auto" (refuse if it can't be had) or "none"
 *           flag_arms 0|1: build the root with other compiler flags too, as
 *                    rivals, for "over the best compiler flags"
 *  build    key      name of the artefact (a state id)
 *           src      folder with the candidate's `file` and `use`
 *  check    key
 *  screen   key, against (key of the champion, or "root"), against_lr
 *           (number: ln speedup of the champion over the root)
 *  confirm  key, against, against_lr
 *  forget   key      the artefact is deleted
 *
 * Replies: any number of {"id":n,"e":"progress","doing":"..."} and then one
 * {"id":n,"e":"done",...} with
 *
 *  open     ok (bool), error; device, device_text, host, sandbox, oracle
 *           (auto given native), compiler, resolution, best_flags,
 *           best_flags_speedup, shapes: [{shape, time_ns, flops, bytes,
 *           gflops, gbs, roof}]
 *  build    verdict: "same" (it is built) | build-fail | gate-fail; error,
 *           build_s
 *  check    verdict: "same" (it is right) | wrong | crash | timeout | cheat |
 *           no-verdict; error
 *  screen   verdict: slower | same | faster | wrong | crash | timeout |
 *           cheat | no-verdict; lr lr_low lr_high time_ns launches error
 *           shapes: [{shape, time_ns, lr}]
 *  confirm  verdict: confirmed | same | slower | too-good | wrong | crash |
 *           timeout | cheat | no-verdict; lr lr_low lr_high speedup ci_low
 *           ci_high (over the baseline) est_speedup (over the root)
 *           vs_rival vs_best_flags time_ns baseline_ns launches
 *           clock error; shapes: [{shape, holdout, time_ns, baseline_ns,
 *           speedup, ci_low, ci_high, flops, bytes, gflops, gbs, roof}];
 *           samples: name of a file in the work folder with the raw
 *           log-ratios and the hashes of the input sets, JSON
 *
 * A number that was not measured is null.  A judge that cannot go on prints
 * {"id":n,"e":"done","ok":false,"fatal":true,"error":"..."} and ends with
 * status 1.
 */
#ifndef CORE_JUDGE_WIRE_H
#define CORE_JUDGE_WIRE_H

#define WIRE_MAX_REQUEST (2u << 20)	/* bytes a line */
#define WIRE_MAX_REPLY (1u << 20)

#endif
